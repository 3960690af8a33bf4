if redis.call("hexists",KEYS[1],ARGV[1])==0 then return nil end
if redis.call("hincrby",KEYS[1],ARGV[1],-1)==0 then redis.call("hdel",KEYS[1],ARGV[1]) end
if redis.call("hlen",KEYS[1])>1 then return 0 end
redis.call("del",KEYS[1])
return 1