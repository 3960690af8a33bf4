// reply.js reads replies and messages of Redis as far as their first bytes go. Their bytes are escaped as redis-cli
// does it: \r\n stands for the end of a line.

// read returns the value at the begin of the parts, as redis-cli shows it, and how many parts it takes.
function read(parts, at) {
  const head = parts[at] ?? '', rest = head.slice(1), n = Number(rest);
  switch (head[0]) {
    case '+': case ',': case '(': return { text: rest, to: at + 1 };
    case '-': return { text: `(error) ${rest}`, to: at + 1 };
    case ':': return { text: `(integer) ${rest}`, to: at + 1 };
    case '#': return { text: rest === 't' ? '(true)' : '(false)', to: at + 1 };
    case '_': return { text: '(nil)', to: at + 1 };
    case '$': case '=': return n < 0 ? { text: '(nil)', to: at + 1 } : { text: `"${parts[at + 1] ?? '…'}"`, plain: parts[at + 1] ?? '…', to: at + 2 };
    case '*': case '~': case '>': case '%': return n < 0 ? { text: '(nil)', to: at + 1 } : list(parts, at, head[0] === '%' ? 2 * n : n);
  }
  return { text: head || '…', to: at + 1, open: true };
}

function list(parts, at, n) {
  const items = [], texts = [];
  let to = at + 1;
  while (items.length < n && to < parts.length && parts[to] !== '') {
    const item = read(parts, to);
    items.push(item.plain ?? item.text);
    texts.push(`${items.length}) ${item.text}`);
    to = item.to;
  }
  return { text: n === 0 ? '(empty array)' : texts.join(' ') + (items.length < n ? ' …' : ''), items, to };
}

// pretty shows a reply in one line.
export function pretty(reply) {
  const value = read(reply.split('\\r\\n'), 0);
  return value.plain ?? value.text.replace(/^\(error\) /, '');
}

// elements returns the words of an array, such as a message of a channel.
export const elements = (message) => read(message.split('\\r\\n'), 0).items ?? [];
