redis.call("get",KEYS[1])
return redis.call("del",KEYS[1])