for i=1,200 do redis.call("get","other:"..i) end
return redis.call("del",KEYS[1])