import type { Writable } from 'node:stream'
import type { Command } from 'commander'
import type { SharedOptions } from './options.ts'

/**
 * Result of a command: `json` is printed with `--json`, `text` without it. `note` always goes to stderr. `hasFailed`:
 * the exit code is 1.
 */
export type Result = { json: unknown; text: string; note?: string; hasFailed?: boolean }

/** The command has printed its result, which is that something failed. */
export class ResultFailed extends Error {}

const PROGRESS_DELAY_MS = 1_000

/** Wraps a command as a Commander action that prints its result. */
export function toAction<Options = object>(
  run: (options: Options & SharedOptions, args: string[]) => Promise<Result>,
) {
  return async (...received: unknown[]): Promise<void> => {
    const parsed = received.at(-1) as Command
    const options = parsed.optsWithGlobals<Options & SharedOptions>()
    const { json, text, note, hasFailed } = await run(options, parsed.args)
    if (note) await write(process.stderr, `${note}\n`)
    await write(process.stdout, options.json ? toJsonText(json) : `${text}\n`)
    if (hasFailed) throw new ResultFailed()
  }
}

export const toJsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** Resolves once the text is flushed, because the process may exit right after. Ignores a closed pipe (EPIPE). */
export function write(stream: Writable, text: string): Promise<void> {
  if (stream.listenerCount('error') === 0) stream.on('error', () => undefined)
  return new Promise((resolve) => stream.write(text, () => resolve()))
}

/** Prints `message` to stderr if the work takes longer than a second. */
export async function withProgress<T>(message: string, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => process.stderr.write(`${message}…\n`), PROGRESS_DELAY_MS)
  try {
    return await work
  } finally {
    clearTimeout(timer)
  }
}
