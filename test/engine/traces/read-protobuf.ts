/**
 * A reader of the wire format (https://protobuf.dev/programming-guides/encoding/) that shares nothing with the
 * serializer, and the numbers of the fields in opentelemetry-proto v1.
 */
type Fields = Map<number, (Buffer | bigint)[]>

function readFields(bytes: Buffer): Fields {
  const fields: Fields = new Map()
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]
      if (byte === undefined) throw new Error('The message ends within a number.')
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const number = tag >> 3
    let value: Buffer | bigint
    if ((tag & 7) === 0) value = varint()
    else if ((tag & 7) === 1) value = bytes.readBigUInt64LE((at += 8) - 8)
    else if ((tag & 7) === 5) value = BigInt(bytes.readUInt32LE((at += 4) - 4))
    else {
      const length = Number(varint())
      value = bytes.subarray(at, (at += length))
    }
    fields.set(number, [...(fields.get(number) ?? []), value])
  }
  return fields
}

const messages = (fields: Fields, number: number) =>
  (fields.get(number) ?? []).map((value) => readFields(value as Buffer))
const bytesOf = (fields: Fields, number: number) => fields.get(number)?.[0] as Buffer | undefined
const textOf = (fields: Fields, number: number) => bytesOf(fields, number)?.toString() ?? ''
const hexOf = (fields: Fields, number: number) => bytesOf(fields, number)?.toString('hex') ?? ''
const numberOf = (fields: Fields, number: number) => Number(fields.get(number)?.[0] ?? 0)

function valueOf(any: Fields): unknown {
  if (any.has(1)) return textOf(any, 1)
  if (any.has(2)) return numberOf(any, 2) === 1
  if (any.has(3)) return numberOf(any, 3)
  if (any.has(5)) return messages(any, 5).flatMap((list) => messages(list, 1).map(valueOf))
  const double = Buffer.alloc(8)
  double.writeBigUInt64LE(any.get(4)?.[0] as bigint)
  return double.readDoubleLE()
}

const attributesOf = (fields: Fields, number: number) =>
  Object.fromEntries(
    messages(fields, number).map((pair) => [textOf(pair, 1), messages(pair, 2).map(valueOf)[0]]),
  )

/** A span as a receiver has it. Times in nanoseconds. */
export type ReceivedSpan = {
  traceId: string
  spanId: string
  parentSpanId: string
  name: string
  kind: number
  start: bigint
  end: bigint
  attributes: Record<string, unknown>
  status: { code: number; message: string }
}

/** The spans of an `ExportTraceServiceRequest`, and the attributes of their resource. */
export function readProtobuf(body: Buffer): { resource: Record<string, unknown>; spans: ReceivedSpan[] } {
  const [first] = messages(readFields(body), 1)
  const resources = messages(readFields(body), 1)
  return {
    resource: first ? Object.assign({}, ...messages(first, 1).map((each) => attributesOf(each, 1))) : {},
    spans: resources.flatMap((each) =>
      messages(each, 2).flatMap((scope) =>
        messages(scope, 2).map((span) => {
          const [status] = messages(span, 15)
          return {
            traceId: hexOf(span, 1),
            spanId: hexOf(span, 2),
            parentSpanId: hexOf(span, 4),
            name: textOf(span, 5),
            kind: numberOf(span, 6),
            start: span.get(7)?.[0] as bigint,
            end: span.get(8)?.[0] as bigint,
            attributes: attributesOf(span, 9),
            status: {
              code: status ? numberOf(status, 3) : 0,
              message: status ? textOf(status, 2) : '',
            },
          }
        }),
      ),
    ),
  }
}
