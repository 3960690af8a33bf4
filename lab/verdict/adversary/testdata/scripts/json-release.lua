local v=redis.call("get",KEYS[1])
if v and cjson.decode(v).owner==ARGV[1] then return redis.call("del",KEYS[1]) end
return 0