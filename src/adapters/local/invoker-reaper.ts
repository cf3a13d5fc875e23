import { spawn, type ChildProcess } from 'node:child_process';

/** Keeps the list of process groups that it is told, and kills what is left of them when the teller is gone. */
const SCRIPT = `
pids=' '
while read -r sign pid; do
  case $sign in
    +) pids="$pids$pid " ;;
    -) pids="\${pids%% $pid *} \${pids#* $pid }" ;;
  esac
done
for pid in $pids; do kill -9 "-$pid"; done
`;

/**
 * A system that is killed cannot end its handlers, and one that sits in an endless loop would not notice.
 * This shell of about 1 MB does: it reads from a pipe that closes with the system. Where there is no `sh` nothing is reaped.
 */
export class Reaper {
  readonly #shell: ChildProcess;

  constructor() {
    this.#shell = spawn('sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    this.#shell.on('error', () => {});
    this.#shell.stdin?.on('error', () => {});
    this.#shell.unref();
    (this.#shell.stdin as { unref?: () => void } | null)?.unref?.();
  }

  watch(pid: number): void {
    this.#shell.stdin?.write(`+ ${pid}\n`);
  }

  forget(pid: number): void {
    this.#shell.stdin?.write(`- ${pid}\n`);
  }

  end(): void {
    this.#shell.stdin?.end();
  }
}
