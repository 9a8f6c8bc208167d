// biome-ignore lint/suspicious/noExplicitAny: a chunk of a format that the SDK validates
type Chunk = any

/** The text of a refusal in a chunk of the formats of OpenAI, which the SDK ignores; else empty. */
export function refusalIn(chunk: unknown): string {
  const { type, refusal, choices } = (chunk ?? {}) as Chunk
  const text = type === 'response.refusal.done' ? refusal : choices?.[0]?.delta?.refusal
  return typeof text === 'string' ? text : ''
}
