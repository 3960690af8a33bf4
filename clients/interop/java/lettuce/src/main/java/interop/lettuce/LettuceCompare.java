package interop.lettuce;

import static interop.cells.Cell.LONG_LEASE;

import interop.cells.Compare;
import io.lettuce.core.CompareCondition;
import io.lettuce.core.HSetExArgs;
import io.lettuce.core.MSetExArgs;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.Map;

record LettuceCompare(RedisCommands<String, String> commands) implements Compare {
    private static final Duration LEASE = Duration.ofMillis(LONG_LEASE);

    @Override
    public boolean take(String key, String token) {
        return "OK".equals(commands.set(key, token, new SetArgs().nx().px(LEASE)));
    }

    @Override
    public boolean renew(String key, String token) {
        SetArgs args = new SetArgs().compareCondition(CompareCondition.valueEq(token)).px(LEASE);
        return "OK".equals(commands.set(key, token, args));
    }

    @Override
    public boolean release(String key, String token) {
        return commands.delex(key, CompareCondition.valueEq(token)) == 1;
    }

    @Override
    public boolean several(Map<String, String> tokens) {
        return commands.msetex(tokens, new MSetExArgs().nx().px(LEASE));
    }

    @Override
    public boolean enter(String key, String holder) {
        return commands.hsetex(key, new HSetExArgs().fnx().px(LEASE), Map.of(holder, "1")) == 1;
    }
}
