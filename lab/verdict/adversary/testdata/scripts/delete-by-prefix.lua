local v=redis.call("get",KEYS[1])
if v and string.sub(v,1,#ARGV[1])==ARGV[1] then return redis.call("del",KEYS[1]) end
return 0