import { expect, describe as group, it } from 'vitest'
import { describe } from '../../../lib/engine/code-agent/thread/errors.ts'
import { MAX_TEXT } from '../../../lib/engine/code-agent/thread/protocol.ts'

const refused = (address: string) =>
  Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED' })
const both = Object.assign(new AggregateError([refused('::1:9'), refused('127.0.0.1:9')]), {
  code: 'ECONNREFUSED',
})
const failed = (cause: Error) => new TypeError('fetch failed', { cause })
const boom = new Error('boom')
const chain = (length: number): Error =>
  new Error(`e${length}`, length > 1 ? { cause: chain(length - 1) } : {})
const circular = new Error('one', { cause: new Error('two') })
;(circular.cause as Error).cause = circular

group('the message of an error of an agent', () => {
  it.each<[string, unknown, string]>([
    ['has its cause', failed(refused('::1:9')), 'fetch failed: connect ECONNREFUSED ::1:9'],
    [
      'has all addresses that refused',
      failed(both),
      'fetch failed: connect ECONNREFUSED ::1:9; connect ECONNREFUSED 127.0.0.1:9',
    ],
    [
      'has the errors of Promise.any',
      new AggregateError([new Error('a'), 'b'], 'All promises were rejected'),
      'All promises were rejected: a; b',
    ],
    ['counts further errors', new AggregateError([1, 2, 3, 4, 5, 6, 7], 'x'), 'x: 1; 2; 3; 4; 5; 2 more'],
    ['has causes of causes, to a depth', chain(9), 'e9: e8: e7: e6: e5: e4'],
    ['ends where causes meet again', circular, 'one: two'],
    [
      'has a cause that is a text or an object',
      new Error('x', { cause: new Error('y', { cause: { status: 503 } }) }),
      'x: y: { status: 503 }',
    ],
    ['does not repeat what it says already', new Error('Failed: boom', { cause: boom }), 'Failed: boom'],
    [
      'is the class and the code without a text',
      Object.assign(new RangeError(''), { code: 'E_RANGE' }),
      'RangeError E_RANGE',
    ],
    ['is that of the cause without a text', new Error('', { cause: boom }), 'boom'],
    [
      'says why a module is missing',
      Object.assign(new Error("Cannot find module './x.json'\nRequire stack:\n- /tmp/agent.mjs"), {
        code: 'MODULE_NOT_FOUND',
      }),
      "Cannot find module './x.json'. An agent runs without the files beside it: use an import statement, so that publishing bundles the module.",
    ],
    ['of something else is its text', 'plain', 'plain'],
  ])('%s', (_, error, message) => {
    expect(describe(error).message).toBe(message)
  })

  it('has a limit', () => {
    const long = 'x'.repeat(2 * MAX_TEXT)
    const error = new AggregateError(Array(9).fill(new Error(long)), long, { cause: new Error(long) })
    const { message, stack } = describe(error)
    expect(message.length).toBe(MAX_TEXT)
    expect(stack?.length).toBeLessThanOrEqual(MAX_TEXT)
  })

  it('is not lost if the cause cannot be read', () => {
    const error = Object.defineProperty(new Error('boom'), 'cause', {
      get: () => {
        throw new Error('no')
      },
    })
    expect(describe(error).message).toBe('boom')
  })

  it('has the position of the cause if the error has none', () => {
    const cause = Object.assign(new Error('inner'), { stack: 'Error: inner\n    at run (/x/agent.ts:3:9)' })
    const error = Object.assign(new Error('outer', { cause }), {
      stack: 'Error: outer\n    at node:internal/x:1:1',
    })
    expect(describe(error).stack).toBe('    at node:internal/x:1:1\n    at run (/x/agent.ts:3:9)')
  })
})
