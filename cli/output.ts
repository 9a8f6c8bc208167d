import type { Writable } from 'node:stream'
import type { Command } from 'commander'

/** What every command takes: `--json`, `--stack`, and most of them `--org`. */
export type Shared = { json?: true | undefined; stack?: string | undefined; org?: string | undefined }

/** What a command has to say: `json` with `--json`, else `text`; `note` goes to stderr either way. */
export type Answer = { json: unknown; text: string; note?: string }

/** The action of a command: prints what `work` answers. */
export function answering<Options = object>(
  work: (options: Options & Shared, args: string[]) => Promise<Answer>,
) {
  return async (...given: unknown[]): Promise<void> => {
    const command = given.at(-1) as Command
    const options = command.optsWithGlobals<Options & Shared>()
    const { json, text, note } = await work(options, command.args)
    if (note) await write(process.stderr, `${note}\n`)
    await write(process.stdout, options.json ? jsonText(json) : `${text}\n`)
  }
}

export const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** Writes and waits until it is out: the process may end right after. A reader that has gone away is no error. */
export function write(stream: Writable, text: string): Promise<void> {
  if (stream.listenerCount('error') === 0) stream.on('error', () => undefined)
  return new Promise((resolve) => stream.write(text, () => resolve()))
}
