for i=1,200 do redis.call("get","other:"..i) end
return redis.call("set",KEYS[1],ARGV[1],"nx","px",ARGV[2])