import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { type LambdaProcess, startLambda } from '../../support/lambda-process.ts'
import { HTTP_INTEGRATION, startRuntimeApi } from '../../support/runtime-api.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-contract-'))
const started: LambdaProcess[] = []

/** A function of this source, in a process under the runtime contract. */
async function functionOf(source: string, handler = 'index.handler'): Promise<LambdaProcess> {
  const own = mkdtempSync(join(folder, 'function-'))
  writeFileSync(join(own, 'index.mjs'), source)
  const environment = { GREETING: 'hello' }
  const options = { name: 'made-here', folder: own, handler, timeoutSeconds: 900, memoryMb: 128, environment }
  const lambda = await startLambda(options)
  started.push(lambda)
  return lambda
}

const streaming = (body: string) =>
  `export const handler = awslambda.streamifyResponse(async (event, stream) => { ${body} })`

afterEach(async () => {
  for (const lambda of started.splice(0)) await lambda.stop()
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('the Lambda runtime contract', () => {
  it('gives a handler its event, a context and its own environment, and nothing of the parent', async () => {
    const lambda = await functionOf(`export const handler = async (event, context) => ({
      event,
      left: context.getRemainingTimeInMillis(),
      named: [context.functionName, context.memoryLimitInMB, context.awsRequestId, context.invokedFunctionArn],
      names: Object.keys(process.env),
      greeting: process.env.GREETING,
    })`)
    const first = await lambda.invoke({ n: 1 })
    const second = await lambda.invoke({ n: 2 })
    if (first.mode !== 'buffered' || second.mode !== 'buffered') throw new Error(lambda.output())
    const { event, left, named, names, greeting } = first.payload
    expect({ event, named, greeting }).toEqual({
      event: { n: 1 },
      named: ['made-here', '128', expect.any(String), expect.stringMatching(/^arn:aws:lambda:.*:made-here$/)],
      greeting: 'hello',
    })
    expect(left).toBeGreaterThan(800_000)
    expect(left).toBeLessThanOrEqual(900_000)
    expect(names.filter((name: string) => /VITEST|^npm_|^HOME$/.test(name))).toEqual([])
    expect([second.payload.event, second.payload.named[2] === named[2]]).toEqual([{ n: 2 }, false])
  })

  it('takes null for a handler that returns nothing', async () => {
    const lambda = await functionOf('export const handler = async () => undefined')
    expect(await lambda.invoke({})).toEqual({ mode: 'buffered', payload: null })
  })

  it('reports what a handler throws, and goes on with the next event', async () => {
    const lambda = await functionOf(`export const handler = async (event) => {
      if (event.bad) throw new TypeError('bad event')
      return 'fine'
    }`)
    expect(await lambda.invoke({ bad: true })).toEqual({
      mode: 'failed',
      fault: {
        errorType: 'TypeError',
        errorMessage: 'bad event',
        trace: expect.arrayContaining([expect.stringContaining('index.mjs')]),
      },
    })
    expect(await lambda.invoke({})).toEqual({ mode: 'buffered', payload: 'fine' })
  })

  it('sends the prelude before the first write of a streamed answer', async () => {
    const lambda = await functionOf(
      streaming(`const http = awslambda.HttpResponseStream.from(stream, { statusCode: 201 })
      http.write('a')
      http.write('b')
      http.end()`),
    )
    const prelude = { statusCode: 201 }
    const answer = { mode: 'streamed', contentType: HTTP_INTEGRATION, prelude, body: 'ab', fault: null }
    expect(await lambda.invoke({})).toEqual(answer)
    expect(await lambda.invoke({})).toEqual(answer)
  })

  it('sends no prelude when nothing is written, as AWS does', async () => {
    const lambda = await functionOf(
      streaming(`awslambda.HttpResponseStream.from(stream, { statusCode: 204 }).end()`),
    )
    expect(await lambda.invoke({})).toMatchObject({ contentType: HTTP_INTEGRATION, prelude: null, body: '' })
  })

  it('ends a stream that breaks off with its error, and goes on with the next event', async () => {
    const lambda = await functionOf(
      streaming(`stream.write(event.text)
      if (event.bad) throw new RangeError('too far')
      stream.end()`),
    )
    const fault = { errorType: 'RangeError', errorMessage: 'too far', trace: expect.any(Array) }
    const broken = {
      mode: 'streamed',
      contentType: 'application/octet-stream',
      prelude: null,
      body: 'x',
      fault,
    }
    expect(await lambda.invoke({ text: 'x', bad: true })).toEqual(broken)
    expect(await lambda.invoke({ text: 'y' })).toMatchObject({ body: 'y', fault: null })
  })

  it.each([
    ['throws while it loads', `throw new Error('no configuration')`, 'Error', 'no configuration'],
    ['imports what is not there', `import './chunk-gone.mjs'`, 'Error', 'chunk-gone.mjs'],
    ['exports no handler', 'export const other = 1', 'Runtime.HandlerNotFound', 'exports no handler'],
    [
      'takes a callback',
      'export const handler = (event, context, done) => done()',
      'Runtime.CallbackHandlerDeprecated',
      'callback',
    ],
  ])('tells init/error of a bundle that %s, and exits', async (_, source, errorType, message) => {
    const lambda = await functionOf(source)
    const fault = { errorType, errorMessage: expect.stringContaining(message), trace: expect.any(Array) }
    expect(await lambda.invoke({})).toEqual({ mode: 'failed', fault })
    expect(await lambda.ended).toBe(1)
  })

  it('tells init/error of a rejection that nobody handles, and exits with 128', async () => {
    const lambda = await functionOf(`export const handler = () => {
      Promise.reject(new Error('nobody waits'))
      return new Promise(() => undefined)
    }`)
    expect(await lambda.invoke({})).toMatchObject({ mode: 'failed', fault: { errorMessage: 'nobody waits' } })
    expect(await lambda.ended).toBe(128)
  })
})

describe('startRuntimeApi', () => {
  it('refuses an answer to what is not in work', async () => {
    const api = await startRuntimeApi('arn')
    const path = `http://${api.address}/2018-06-01/runtime/invocation`
    const outcome = api.invoke({ n: 1 }, 1000)
    const next = await fetch(`${path}/next`)
    const answer = `${path}/${next.headers.get('lambda-runtime-aws-request-id')}/response`
    const post = async (url: string) => (await fetch(url, { method: 'POST', body: '"done"' })).status
    expect([await post(`${path}/other/response`), await post(answer), await post(answer)]).toEqual([
      400, 202, 400,
    ])
    expect([await next.json(), await outcome]).toEqual([{ n: 1 }, { mode: 'buffered', payload: 'done' }])
    await api.stop()
  })
})

describe('startLambda', () => {
  it('ends a process by SIGTERM', async () => {
    const lambda = await functionOf('export const handler = async () => 1')
    await lambda.invoke({})
    expect(await lambda.stop()).toBe('SIGTERM')
    expect(() => process.kill(lambda.pid, 0)).toThrow('ESRCH')
  })

  it('leaves no process behind when its Runtime API is gone', async () => {
    const lambda = await functionOf('export const handler = async () => 1')
    await lambda.invoke({})
    await lambda.abandon()
    expect(await lambda.ended).toBe(129)
  })

  it('does not wait longer than its limit for a handler that never answers', async () => {
    const lambda = await functionOf(
      'export const handler = () => new Promise(() => setInterval(() => undefined, 1000))',
    )
    await expect(lambda.invoke({}, 500)).rejects.toThrow(/gave no answer in 500 ms/)
  })

  it('says so at once when the process ends in the middle of an event', async () => {
    const lambda = await functionOf('export const handler = () => process.exit(3)')
    await expect(lambda.invoke({})).rejects.toThrow('ended by 3')
  })
})
