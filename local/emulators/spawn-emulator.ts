import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'

const MAX_OUTPUT_CHARACTERS = 2_000

/**
 * Stops the emulator when its standard input closes, which happens however this process dies. Exits when the emulator
 * does. The shell gives background commands no standard input, hence descriptor 3.
 */
const STOP_WITH_PARENT =
  'exec 3<&0; "$@" & child=$!; { read -r _ <&3; kill $child; } 2>/dev/null & wait $child'

/** An emulator in a process of its own, which stops when this process dies. */
type EmulatorProcess<Child> = {
  child: Child
  /** Resolves with the end of what it wrote to standard error. */
  exited: Promise<string>
  stop: () => Promise<void>
}

/** Starts a program that runs until it is stopped. Its standard output is discarded. */
export function spawnEmulator(command: string, args: string[], environment: Record<string, string> = {}) {
  return toEmulator(
    spawn('sh', ['-c', STOP_WITH_PARENT, 'sh', command, ...args], {
      stdio: ['pipe', 'ignore', 'pipe'],
      env: { ...process.env, ...environment },
      ...SEPARATE,
    }),
  )
}

/** Starts a program that exits when its standard input closes. */
export function spawnFilter(command: string, args: string[]) {
  return toEmulator(spawn(command, args, { stdio: 'pipe', ...SEPARATE }))
}

/** A process group of its own: an interrupt from the terminal must not stop the database before the service. */
const SEPARATE = { detached: true }

function toEmulator<Child extends ChildProcessByStdio<Writable, Readable | null, Readable>>(
  child: Child,
): EmulatorProcess<Child> {
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-MAX_OUTPUT_CHARACTERS)
  })
  // Writing to a process that has exited.
  child.stdin.on('error', () => undefined)
  const exited = new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(message))
    child.once('close', () => resolve(errors))
  })
  const stop = async () => {
    child.stdin.end()
    await exited
  }
  return { child, exited, stop }
}
