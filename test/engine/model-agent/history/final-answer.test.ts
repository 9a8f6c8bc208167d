import { afterAll, describe, expect, it } from 'vitest'
import { aModelAgent, finalAnswer, httpTool, startToolServer } from '../../../support/engine/model-agent.ts'
import { startScriptedEngine } from '../../../support/engine/scripted-engine.ts'
import { SCRIPTED_PROVIDERS } from '../../../support/scripted-model/start-scripted-model.ts'

const { runScript } = await startScriptedEngine()
const server = await startToolServer((path, response) => {
  response.statusCode = path.startsWith('/broken') ? 500 : 200
  response.end(JSON.stringify({ path }))
})
afterAll(() => server.stop())

const anAgent = () =>
  aModelAgent({
    tools: [httpTool(server, 'refund', '/refunds/{id}'), httpTool(server, 'fail', '/broken/{id}')],
  })
const answer = finalAnswer({ answer: 'Refunded.' })
const callsOf = (id: string) => server.calls.filter(({ path }) => path.endsWith(`/${id}`)).length

describe.each(SCRIPTED_PROVIDERS)('a call beside a valid answer of %s', (provider) => {
  const idOf = (name: string) => `${provider}-${name}`

  it.each([0, 1])('is executed before the answer is accepted, also after it (%i)', async (position) => {
    const id = idOf(`beside-${position}`)
    const refund = { name: 'refund', input: { id } }
    const calls = position === 0 ? [refund, answer] : [answer, refund]
    const { execution, steps, done } = await runScript([{ calls }], { version: await anAgent(), provider })
    done()
    expect(execution).toMatchObject({ status: 'SUCCESS', output: { answer: 'Refunded.' }, steps: 1 })
    expect(callsOf(id)).toBe(1)
    expect([...(steps[0]?.results.values() ?? [])]).toMatchObject([{ result: { ok: true } }])
  })

  it.each([
    ['fails', { name: 'fail', input: { id: idOf('failing') } }],
    ['is of an unknown tool', { name: 'repay', input: {} }],
    ['is not JSON', { name: 'refund', raw: '{"id": ' }],
  ])('that %s rejects the answer, and the model learns why', async (_, call) => {
    const { execution, requests, done } = await runScript(
      [{ calls: [call, answer] }, { calls: [finalAnswer({ answer: 'Not refunded.' })] }],
      { version: await anAgent(), provider },
    )
    done()
    expect(execution).toMatchObject({ status: 'SUCCESS', output: { answer: 'Not refunded.' }, steps: 2 })
    const results = requests[1]?.history.flatMap((item) => (item.type === 'result' ? [item.output] : []))
    expect(results).toHaveLength(2)
    expect(results?.join('\n')).toContain(`these calls in the same response failed: ${call.name}`)
  })
})

it('an answer that is rejected for other calls does not use up the corrections of an invalid one', async () => {
  const failing = { calls: [{ name: 'fail', input: { id: 'again' } }, answer] }
  const { execution, done } = await runScript([failing, failing, failing, { calls: [answer] }], {
    version: await anAgent(),
  })
  done()
  expect(execution).toMatchObject({ status: 'SUCCESS', steps: 4 })
})
