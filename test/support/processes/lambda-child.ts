/**
 * Entry point of the processes that `lambda-process.ts` starts. Loads the bundle named on the command line, with the
 * global `awslambda` that the Lambda runtime defines, and invokes its handler once for each message from the parent.
 */
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import type { Invocation, Result } from './lambda-process.ts'

type Handler = (...parameters: unknown[]) => Promise<unknown>

/** The first bytes of compressed responses, which no JSON begins with. */
const GZIP = [0x1f, 0x8b]

const streaming = new WeakSet<Handler>()
const preludes = new WeakMap<PassThrough, unknown>()

Object.assign(globalThis, {
  awslambda: {
    streamifyResponse: (handler: Handler) => {
      streaming.add(handler)
      return handler
    },
    HttpResponseStream: {
      from(stream: PassThrough, prelude: unknown) {
        preludes.set(stream, prelude)
        return stream
      },
    },
  },
})

const [, , bundle = ''] = process.argv
const { handler }: { handler: Handler } = await import(pathToFileURL(bundle).href)

process.on('disconnect', () => process.exit())
process.on('message', async (invocation: Invocation) => {
  const result = await invoke(invocation).catch(
    (error: unknown): Result => ({
      mode: 'failed',
      message: error instanceof Error ? error.message : String(error),
    }),
  )
  process.send?.(result)
})

async function invoke({ event, remainingMs }: Invocation): Promise<Result> {
  const context = { awsRequestId: 'request', getRemainingTimeInMillis: () => remainingMs }
  if (!streaming.has(handler)) return { mode: 'buffered', payload: (await handler(event, context)) ?? null }
  const stream = new PassThrough()
  const [bytes] = await Promise.all([buffer(stream), handler(event, stream, context)])
  const isCompressed = bytes[0] === GZIP[0] && bytes[1] === GZIP[1]
  const body = (isCompressed ? gunzipSync(bytes) : bytes).toString()
  return { mode: 'streamed', prelude: preludes.get(stream) ?? null, body }
}
