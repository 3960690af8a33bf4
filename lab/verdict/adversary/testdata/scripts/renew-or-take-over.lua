local v=redis.call("get",KEYS[1])
if v==ARGV[1] then redis.call("pexpire",KEYS[1],ARGV[2]) return 1 end
redis.call("set",KEYS[1],ARGV[1],"px",ARGV[2])
return 2