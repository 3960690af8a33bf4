package interop.jedis8;

import static interop.cells.Cell.LONG_LEASE;

import interop.cells.Compare;
import java.util.Map;
import java.util.stream.Stream;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.params.HSetExParams;
import redis.clients.jedis.params.MSetExParams;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.util.CompareCondition;

record JedisCompare(UnifiedJedis client) implements Compare {
    @Override
    public boolean take(String key, String token) {
        return "OK".equals(client.set(key, token, SetParams.setParams().nx().px(LONG_LEASE)));
    }

    @Override
    public boolean renew(String key, String token) {
        SetParams params = SetParams.setParams().condition(CompareCondition.valueEq(token)).px(LONG_LEASE);
        return "OK".equals(client.set(key, token, params));
    }

    @Override
    public boolean release(String key, String token) {
        return client.delex(key, CompareCondition.valueEq(token)) == 1;
    }

    @Override
    public boolean several(Map<String, String> tokens) {
        String[] pairs = tokens.entrySet().stream()
                .flatMap(pair -> Stream.of(pair.getKey(), pair.getValue()))
                .toArray(String[]::new);
        return client.msetex(new MSetExParams().nx().px(LONG_LEASE), pairs);
    }

    @Override
    public boolean enter(String key, String holder) {
        return client.hsetex(key, HSetExParams.hSetExParams().fnx().px(LONG_LEASE), holder, "1") == 1;
    }
}
