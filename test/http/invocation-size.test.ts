import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import { describe, expect, it } from 'vitest'
import { assertFitsInvocation, assertFitsResult } from '../../lib/http/invocation-size.ts'

const MAX = 6 * 1024 * 1024
/** Of what is beside the body: less than this. */
const CONTEXT = 10_000

const invocation = (body: string) => assertFitsInvocation({ body } as APIGatewayProxyEvent)
const result = (body: string) => assertFitsResult({ statusCode: 200, body } as APIGatewayProxyResult)

/** A text, and the bytes that each repetition of it takes in a string of JSON. */
describe.each([
  ['"', 2],
  ['\\', 2],
  ['\n', 2],
  ['a', 1],
  ['ä', 2],
  ['😀', 4],
])('a body of %j', (text, bytes) => {
  it('is too large when Lambda would not pass it on, and not before', () => {
    const tooLarge = text.repeat(Math.ceil(MAX / bytes))
    const fits = text.repeat(Math.floor((MAX - CONTEXT) / bytes))
    for (const check of [invocation, result]) {
      expect(() => check(tooLarge)).toThrow(expect.objectContaining({ code: 'PayloadTooLarge' }))
      expect(() => check(fits)).not.toThrow()
    }
  })
})
