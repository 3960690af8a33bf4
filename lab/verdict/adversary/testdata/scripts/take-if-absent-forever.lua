if redis.call("exists",KEYS[1])==0 then return redis.call("set",KEYS[1],ARGV[1]) end
return false