local v=redis.call("get",KEYS[1])
if not v then return redis.call("set",KEYS[1],ARGV[1],"nx","px",ARGV[2]) end
if v==ARGV[1] then redis.call("pexpire",KEYS[1],ARGV[2]) return {ok="OK"} end
return false