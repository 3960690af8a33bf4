if redis.call("exists",KEYS[1],KEYS[2])>0 then return 0 end
redis.call("set",KEYS[1],ARGV[1],"px",ARGV[2])
redis.call("set",KEYS[2],ARGV[1],"px",ARGV[2])
return 1