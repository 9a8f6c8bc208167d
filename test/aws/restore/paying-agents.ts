import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { aModelAgent, finalAnswer, httpTool, startToolServer } from '../../support/engine/model-agent.ts'
import { startScriptedModel } from '../../support/scripted-model/start-scripted-model.ts'

/** Agents whose tool has an effect that must not be repeated, a server that counts it, and their models. */
export async function startPayingAgents({ table, organizationId }: { table: Table; organizationId: string }) {
  const held: (() => void)[] = []
  let isHolding = true
  const effects = await startToolServer((path, response) => {
    const respond = () => void response.end('{"ok":true}')
    if (isHolding && path.endsWith('-hold')) held.push(respond)
    else respond()
  })
  const scripted = await startScriptedModel()

  return {
    /** Configures the models. */
    environment: scripted.environmentFor('openai-compatible'),

    /** Path and idempotency key of the calls since the one with this number. */
    callsSince: (first: number) => effects.calls.slice(first).map(({ path, key }) => `${path} ${key}`),

    /** Calls whose path ends in `-hold` wait for their response until `release`. */
    waiting: () => held.length,
    release() {
      isHolding = false
      for (const respond of held) respond()
    },

    /**
     * Publishes an agent that makes these calls, one after the other, before it answers.
     * @param delegate slug of an agent that it calls instead
     */
    publish(slug: string, calls: string[], { delegate }: { delegate?: string } = {}) {
      const name = `${slug}-${system.newId()}`
      scripted.script(name, ({ history }) => {
        const next = history.filter(({ type }) => type === 'result').length
        const id = calls[next]
        if (id === undefined) return { calls: [finalAnswer({ answer: 'Done.' })] }
        const call = delegate ? { name: 'delegate', input: { question: id } } : { name: 'pay', input: { id } }
        return { calls: [{ id: `call-${next}`, ...call }] }
      })
      const tool = delegate
        ? { name: 'delegate', description: 'Delegates.', agent: delegate }
        : httpTool(effects, 'pay', `/${slug}/{id}`)
      const model = scripted.modelFor('openai-compatible', name)
      const tools = calls.length === 0 ? [] : [tool]
      return aModelAgent({ organizationId, slug, tools, model }, { table })
    },

    async stop() {
      await effects.stop()
      await scripted.stop()
    },
  }
}
