if redis.call("exists",KEYS[2])==0 then return redis.call("set",KEYS[2],ARGV[1],"px",ARGV[2]) end
return false