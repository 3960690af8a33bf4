local v=redis.call("get",KEYS[1])
for _,token in ipairs(ARGV) do if v==token then return redis.call("del",KEYS[1]) end end
return 0