import type { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { onParentExit } from '../local/parent-exit.ts'

/** The command has printed its result, which is that something failed. */
export class ResultFailed extends Error {}

const PROGRESS_DELAY_MS = 1_000

export const toJsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/**
 * Resolves once the text is flushed, because the process may exit right after.
 * @returns false if it could not be written, as to a closed pipe (EPIPE)
 */
export function write(stream: Writable, text: string): Promise<boolean> {
  if (stream.listenerCount('error') === 0) stream.on('error', () => undefined)
  return new Promise((resolve) => stream.write(text, (error) => resolve(!error)))
}

let announced = ''

/** Says on stderr what a command works on, once: `dev` opens it at each change. */
export function announce(target: string, { json }: { json?: true | undefined }): void {
  if (!json && target !== announced) process.stderr.write(`Working on ${target}…\n`)
  announced = target
}

/** Prints `message` to stderr if the work takes longer than a second. */
export function withProgress<T>(message: string, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => process.stderr.write(`${message}…\n`), PROGRESS_DELAY_MS)
  return work.finally(() => clearTimeout(timer))
}

type Cleanup = () => Promise<unknown>

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const

/** Time limit for all cleanups together, after which the process exits anyway, as it does at a second signal. */
const CLEANUP_TIMEOUT_MS = 10_000

const cleanups: Cleanup[] = []
let isInterrupted = false

/** Registers a cleanup for SIGINT and SIGTERM; the last one registered runs first. Returns how to remove it. */
export function onInterrupt(cleanup: Cleanup): () => void {
  cleanups.unshift(cleanup)
  return () => {
    const index = cleanups.indexOf(cleanup)
    if (index >= 0) cleanups.splice(index, 1)
  }
}

/**
 * On SIGINT or SIGTERM, and when npm is gone, runs the cleanups and exits. A second signal exits immediately.
 * @param parent the id of the process that has started this one
 */
export function handleSignals(parent: number): void {
  const interrupt = async (code: number) => {
    isInterrupted = true
    await Promise.race([runCleanups(), sleep(CLEANUP_TIMEOUT_MS)])
    process.exit(code)
  }
  for (const [signal, code] of Object.entries(EXIT_CODES))
    process.on(signal, () => (isInterrupted ? process.exit(code) : interrupt(code)))
  // After a signal of the terminal, npm exits before this process.
  onParentExit(parent, () => void (isInterrupted || interrupt(EXIT_CODES.SIGTERM)))
}

/** Skips the work after a signal and never resolves: the signal handler exits the process. */
export function unlessInterrupted<T>(work: () => Promise<T>): Promise<T> {
  return isInterrupted ? new Promise<never>(() => undefined) : work()
}

async function runCleanups(): Promise<void> {
  for (const cleanup of [...cleanups]) await cleanup().catch(() => undefined)
}

/** Closes what was opened after `use`, also on errors and on Ctrl-C. */
export async function useAndClose<Opened extends { close: () => Promise<void> }, T>(
  opening: Promise<Opened>,
  use: (opened: Opened) => Promise<T>,
): Promise<T> {
  let closing: Promise<void> | undefined
  const closeOnce = () => {
    closing ??= opening.then(
      ({ close }) => close(),
      () => undefined,
    )
    return closing
  }
  const removeCleanup = onInterrupt(closeOnce)
  try {
    return await use(await opening)
  } finally {
    await closeOnce()
    removeCleanup()
  }
}
