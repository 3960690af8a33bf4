redis.call("set",KEYS[1],ARGV[1],"nx","px",ARGV[2])
return redis.call("nosuchcommand")