local field="worker:"..ARGV[2]
if redis.call("exists",KEYS[1])==0 then redis.call("hset",KEYS[1],field,1) redis.call("pexpire",KEYS[1],ARGV[1]) return nil end
return redis.call("pttl",KEYS[1])