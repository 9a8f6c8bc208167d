import { spawn } from 'node:child_process'

const MAX_OUTPUT_CHARACTERS = 2_000

/**
 * Stops the emulator when its standard input closes, which happens however this process dies. Exits when the emulator does.
 * The shell gives background commands no standard input, hence descriptor 3.
 */
const STOP_WITH_PARENT =
  'exec 3<&0; "$@" & child=$!; { read -r _ <&3; kill $child; } 2>/dev/null & wait $child'

/** An emulator in a process of its own, which stops when this process dies. */
export type EmulatorProcess = {
  /** The end of what it wrote to standard error. */
  errors: () => string
  exited: Promise<void>
  stop: () => Promise<void>
}

/** Starts a program that runs until it is stopped. Its standard output is discarded. */
export function spawnEmulator(
  command: string,
  args: string[],
  environment: Record<string, string> = {},
): EmulatorProcess {
  const child = spawn('sh', ['-c', STOP_WITH_PARENT, 'sh', command, ...args], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { ...process.env, ...environment },
    // A separate process group: an interrupt from the terminal must not stop the database before the service.
    detached: true,
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-MAX_OUTPUT_CHARACTERS)
  })
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  return {
    errors: () => errors,
    exited,
    stop: async () => {
      child.stdin.end()
      await exited
    },
  }
}
