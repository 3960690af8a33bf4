if redis.call("hexists",KEYS[1],ARGV[2])==0 then return nil end
local n=redis.call("hincrby",KEYS[1],ARGV[2],-1)
if n>0 then redis.call("pexpire",KEYS[1],ARGV[1]) return 0 end
redis.call("del",KEYS[1])
return 1