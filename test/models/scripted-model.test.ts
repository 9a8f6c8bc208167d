import { describe, expect, it } from 'vitest'
import { openModel } from '../../lib/models/open-model.ts'
import { SCRIPTED_PROVIDERS } from '../support/scripted-model/start-scripted-model.ts'
import { openScripted, requestOf, useScriptedModel } from './support.ts'

const scripted = useScriptedModel()

describe.each(SCRIPTED_PROVIDERS)('startScriptedModel in the format of %s', (format) => {
  it('fails a test that sends more requests than scripted', async () => {
    const { model, id } = await openScripted(scripted.server, format, [{ text: 'Once.' }])
    await model.respond(requestOf(model))
    const again = model.respond(requestOf(model))
    await expect(again).rejects.toMatchObject({
      isTransient: false,
      message: expect.stringContaining('no turn 2'),
    })
    expect(() => scripted.server.assertDone(id)).toThrow('the script has no turn 2')
  })

  it('fails a test that does not use all turns', async () => {
    const { model, id } = await openScripted(scripted.server, format, [{ text: 'Once.' }, { text: 'Twice.' }])
    await model.respond(requestOf(model))
    expect(() => scripted.server.assertDone(id)).toThrow('1 of 2 turns')
  })

  it('fails a test that sends two results for a call', async () => {
    const { model, id } = await openScripted(scripted.server, format, [
      { calls: [{ name: 'add', input: {} }] },
      { text: 'Well.' },
    ])
    const { messages, toolCalls } = await model.respond(requestOf(model))
    const results = model.toolMessage(toolCalls.map((call) => ({ call, result: { ok: true, value: 1 } })))
    const twice = [model.userMessage('Hi'), ...messages, results, results]
    await expect(model.respond(requestOf(model, { messages: twice }))).rejects.toThrow('has no open call')
    expect(() => scripted.server.assertDone(id)).toThrow('has no open call')
  })

  it('rejects a model without a script', async () => {
    const model = await openModel(`${format}/nobody-wrote-me`, scripted.server.environmentFor(format))
    await expect(model.respond(requestOf(model))).rejects.toThrow('no script with this name')
    expect(() => scripted.server.assertDone('nobody-wrote-me')).toThrow('no script with this name')
  })
})
