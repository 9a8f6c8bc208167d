import type { LanguageModelV4Content, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { MAX_PAYLOAD_BYTES } from '../../core/limits.ts'
import { ModelError } from '../../core/model.ts'

/** A part that is not complete may have this many: JSON can escape each character of a payload with twice its bytes. */
const MAX_PART_BYTES = 2 * MAX_PAYLOAD_BYTES

/** What is read of the responses of a model, which sends one request at a time. */
export class ResponseSize {
  /** Why reading has stopped; null while the response is within the limit. */
  error: ModelError | null = null
  /** Bytes that have arrived since the last part of the stream. */
  private arrived = 0
  private texts = 0
  /** Inputs of calls, which streams also contain in pieces, and results of the provider's tools. */
  private calls = 0

  /** A request begins. */
  begin(): void {
    Object.assign(this, { error: null, arrived: 0, texts: 0, calls: 0 })
  }

  /** Bytes have arrived. @throws ModelError */
  arrive(bytes: number): void {
    this.arrived += bytes
    if (this.arrived > MAX_PART_BYTES) this.stop()
  }

  /** The parts of a stream, to the limit. @throws ModelError */
  async *limit(stream: AsyncIterable<LanguageModelV4StreamPart>): AsyncGenerator<LanguageModelV4StreamPart> {
    for await (const part of stream) {
      this.arrived = 0
      this.add(part)
      yield part
    }
  }

  /** @throws ModelError */
  add(part: LanguageModelV4StreamPart | LanguageModelV4Content): void {
    if ('delta' in part) this.texts += Buffer.byteLength(part.delta)
    else if ('text' in part) this.texts += Buffer.byteLength(part.text)
    else if (part.type === 'tool-call') this.calls += Buffer.byteLength(part.input)
    else if (part.type === 'tool-result') this.calls += Buffer.byteLength(JSON.stringify(part.result))
    if (Math.max(this.texts, this.calls) > MAX_PAYLOAD_BYTES) this.stop()
  }

  private stop(): never {
    const message = `The response of the model exceeds the limit of ${MAX_PAYLOAD_BYTES} bytes. Reading it was stopped.`
    this.error = new ModelError(message, { isTransient: false, isTooLarge: true })
    throw this.error
  }
}
