/** A server-sent event with the fields that the service uses. */
export type SentEvent = { event: string; data: string; id: string | undefined }

/** A carriage return at the end may be followed by a line feed that has not arrived yet. */
const LINE_END = /\r\n|\n|\r(?!$)/g

/**
 * Parses an event stream that arrives in parts, which can end anywhere.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export class EventParser {
  /** Milliseconds, as the last `retry` says. */
  retryMs: number | undefined
  private text = ''
  private event = ''
  private data: string[] = []
  private id: string | undefined

  /** Returns the events that are complete. One without its empty line is dropped at the end, as browsers do. */
  push(part: string): SentEvent[] {
    const events: SentEvent[] = []
    LINE_END.lastIndex = Math.max(this.text.length - 1, 0)
    this.text += part
    let start = 0
    for (let end = LINE_END.exec(this.text); end; end = LINE_END.exec(this.text)) {
      const line = this.text.slice(start, end.index)
      start = LINE_END.lastIndex
      if (line) this.readField(line)
      else {
        if (this.data.length > 0) events.push({ event: this.event, data: this.data.join('\n'), id: this.id })
        this.event = ''
        this.data = []
        this.id = undefined
      }
    }
    this.text = this.text.slice(start)
    return events
  }

  private readField(line: string): void {
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (name === 'data') this.data.push(value)
    else if (name === 'event') this.event = value
    else if (name === 'id') this.id = value
    else if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value)
  }
}
