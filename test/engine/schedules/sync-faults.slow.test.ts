import { describe, expect, it } from 'vitest'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { sharedTable } from '../../support/engine/organization.ts'
import { declaringAgent } from '../../support/schedules/declaring-agent.ts'

const table = sharedTable()

describe('syncSchedules', () => {
  /** Each write once: before it takes effect, or afterwards. */
  it.each(['before', 'after'] as const)('is repeated when a write fails %s it took effect', async (when) => {
    let failures = 0
    for (let failing = 0; ; failing++) {
      const agent = declaringAgent(table)
      const first = await agent.publish({ a: '@daily', b: '@daily' })
      await agent.sync()
      await agent.put('a', { enabled: false })
      let writes = 0
      const write =
        <Name extends 'put' | 'update' | 'delete' | 'writeMany'>(name: Name) =>
        async (...args: Parameters<Table[Name]>) => {
          const mustFail = writes++ === failing
          if (mustFail) failures++
          if (mustFail && when === 'before') throw new Error('fails')
          const result = await (table[name] as (...all: unknown[]) => Promise<unknown>)(...args)
          if (mustFail) throw new Error('fails')
          return result
        }
      const faulty = {
        ...table,
        put: write('put'),
        update: write('update'),
        delete: write('delete'),
        writeMany: write('writeMany'),
      } as Table
      const attempt = (step: () => Promise<unknown>) => step().catch(() => undefined)
      await attempt(() => agent.publish({ a: '@weekly', c: '@weekly' }, { on: faulty }))
      await attempt(() => agent.sync(agent.storesOn(faulty)))
      await attempt(() => agent.promote(first, faulty))
      await attempt(() => agent.sync(agent.storesOn(faulty)))
      agent.wait(61_000)
      if ((await agent.timers()).length > 0) await agent.sync()
      const current = await agent.current()
      expect(await agent.schedules(), `write ${failing}`).toEqual({ ...current, a: `${current.a}!` })
      expect(await agent.timers()).toEqual([])
      if (writes <= failing) break
    }
    expect(failures).toBeGreaterThan(12)
  })
})
