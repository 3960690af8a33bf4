// Texts of the words that a click explains.
export default {
  en: {
    'term.title': 'Words', 'term.what': 'what is {word}?',
    'term.epoll_wait': 'A system call of Linux. It sleeps until a watched descriptor is ready or a time is over, and returns those that are ready.',
    'term.fd': 'File descriptor: the number by which a program names an open file or socket to the kernel. When it is closed, the next one may get the same number.',
    'term.Recv-Q': 'Bytes that have arrived in the kernel, and that the program has not read yet. The tools ss and netstat use this name.',
    'term.Send-Q': 'Bytes that the program has written, and that the other side has not confirmed yet. They are in the kernel.',
    'term.EAGAIN': 'What read(2) and write(2) return instead of waiting: nothing to read now, or no room to write. The loop tries again when the socket is ready.',
    'term.eventfd': 'A descriptor of Linux with a counter in it. Another thread adds to the counter, the descriptor becomes readable, and so a loop that sleeps wakes up.',
    'term.backlog': 'The last part of the replication stream, in memory. A replica that was away for a moment asks for the bytes that it lacks. If the backlog has them, it needs no full copy of all keys.',
    'term.barrier': 'A place where main waits until the last thread is done with its share of the work. Only then it goes on.',
  },
  zh: {
    'term.title': '名词', 'term.what': '{word} 是什么？',
    'term.epoll_wait': 'Linux 的一个系统调用。它一直休眠，直到某个被监视的描述符就绪，或者时间到了，然后返回就绪的那些。',
    'term.fd': '文件描述符：程序向内核指称一个打开的文件或套接字时用的编号。关闭之后，下一个打开的可能得到同一个编号。',
    'term.Recv-Q': '已经到达内核、程序还没有读走的字节。ss 和 netstat 这两个工具用的就是这个名字。',
    'term.Send-Q': '程序已经写出、对方还没有确认的字节，留在内核里。',
    'term.EAGAIN': 'read(2) 和 write(2) 不愿等待时的返回值：现在没有可读的，或者没有空位可写。等套接字就绪，循环会再试一次。',
    'term.eventfd': 'Linux 上带一个计数器的描述符。别的线程给计数器加数，描述符就变得可读，于是唤醒正在休眠的循环。',
    'term.backlog': '复制积压缓冲区：复制流最近的一段，放在内存里。从节点断开一会儿再连上来，只要它缺的字节还在这里，就不用重新复制全部的键。',
    'term.barrier': '屏障：主线程在这里等最后一个线程做完它那一份，然后才继续。',
  },
};
