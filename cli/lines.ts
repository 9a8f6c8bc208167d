import { createInterface } from 'node:readline'

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
