/** Limits of one batch. The bytes are those of the body in the event of a Lambda function, where JSON escapes it. */
const MAX_LINES = 10_000
const MAX_BYTES = 5_900_000

/** An input with the name of its result, which is unique within a batch. */
export type BatchLine<Input> = { customId: string; input: Input }

/** Named or not, by the first of them. The name of an input that has none is its index, from 0: `"0"`. */
export type BatchInputs<Input> =
  | Iterable<Input>
  | AsyncIterable<Input>
  | Iterable<BatchLine<Input>>
  | AsyncIterable<BatchLine<Input>>

/** The inputs of one batch. `body`: NDJSON */
export type Part = { body: string; customIds: string[] }

/** The inputs in as few batches as the limits allow: always the same ones. An input above the limit is alone. */
export async function* toParts(
  inputs: BatchInputs<unknown>,
  stringify: (value: unknown) => string,
): AsyncGenerator<Part, void, undefined> {
  const encoder = new TextEncoder()
  let isNamed: boolean | undefined
  let index = 0
  let part: Part = { body: '', customIds: [] }
  let bytes = 0
  for await (const item of inputs as AsyncIterable<BatchLine<unknown>>) {
    isNamed ??= item?.customId !== undefined && item.input !== undefined
    const line = isNamed ? item : { customId: String(index), input: item }
    index++
    const text = `${stringify(line)}\n`
    const size = encoder.encode(JSON.stringify(text)).length
    const { length } = part.customIds
    if (length === MAX_LINES || (length > 0 && bytes + size > MAX_BYTES)) {
      yield part
      part = { body: '', customIds: [] }
      bytes = 0
    }
    part.body += text
    part.customIds.push(line.customId)
    bytes += size
  }
  if (part.body) yield part
}
