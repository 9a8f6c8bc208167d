import { createInterface } from 'node:readline'
import { UserError } from './errors.ts'
import { write } from './terminal.ts'

/**
 * Reads what the user types, line by line, from the first question on. Not in raw mode: the terminal edits lines, and
 * Ctrl-C stays a signal.
 */
export class LineReader {
  private readonly lines: string[] = []
  private isOpen: boolean | undefined
  private wake = () => {}

  /** The next line; null once standard input is closed. @throws the reason of the signal when it aborts */
  async next(signal?: AbortSignal): Promise<string | null> {
    if (this.isOpen === undefined) this.open()
    for (;;) {
      signal?.throwIfAborted()
      const line = this.lines.shift()
      if (line !== undefined) return line
      if (!this.isOpen) return null
      const { promise, resolve } = Promise.withResolvers<void>()
      this.wake = resolve
      signal?.addEventListener('abort', this.wake, { once: true })
      await promise
      signal?.removeEventListener('abort', this.wake)
    }
  }

  private open(): void {
    const { stdin: input } = process
    this.isOpen = !input.readableEnded
    const reader = createInterface({ input, terminal: false })
    reader.on('line', (line) => {
      this.lines.push(line)
      this.wake()
    })
    reader.on('close', () => {
      this.isOpen = false
      this.wake()
    })
  }
}

/**
 * Asks in the terminal, after what the user has to know. Anything but yes is no.
 * @throws UserError without a terminal: it tells which option answers
 */
export async function confirm(question: string, details: string, option = '--yes'): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new UserError(`${details}\n\n${question} Nobody can answer without a terminal: use ${option}.`)
  await write(process.stderr, `${details}\n\n${question} [y/N] `)
  const answer = await new LineReader().next()
  return /^y(es)?$/i.test(answer?.trim() ?? '')
}
