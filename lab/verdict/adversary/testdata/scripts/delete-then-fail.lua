redis.call("del",KEYS[1])
error("later")