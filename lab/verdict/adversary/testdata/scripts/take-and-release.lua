if not redis.call("set",KEYS[1],ARGV[1],"nx","px",ARGV[2]) then return 0 end
return redis.call("del",KEYS[1])