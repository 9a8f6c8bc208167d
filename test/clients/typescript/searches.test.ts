import { describe, expect, it } from 'vitest'
import type { Searched } from '../../../clients/typescript/src/index.ts'
import { collect } from './collect.ts'
import { drop, json, scriptedService } from './scripted-service.ts'

const UNTIL = '2026-11-20T09:00:00.000Z'
const searched = (executions: number, until?: string, next?: string) => ({
  'X-Searched-Executions': String(executions),
  ...(until && { 'X-Searched-Until': until }),
  ...(next && { Link: `</v1/agent_executions?cursor=${next}>; rel="next"` }),
})

describe('executions with a search', () => {
  it('tell how far each page has looked, also an empty one', async () => {
    const { client } = await scriptedService([
      json(200, [], searched(2_000, UNTIL, 'b')),
      drop,
      json(200, [{ id: 'x' }], searched(7)),
    ])
    const told: Searched[] = []
    const list = client.executions({ errorText: 'timeout', onSearched: (each) => void told.push(each) })
    expect(await collect(list)).toEqual([{ id: 'x' }])
    expect(told).toEqual([
      { executions: 2_000, until: UNTIL },
      { executions: 7, until: null },
    ])
  })

  it('end with what the function throws, before another page is read', async () => {
    const { client, requests } = await scriptedService([json(200, [], searched(2_000, UNTIL, 'b'))])
    const onSearched = async ({ until }: Searched) => {
      if (until !== null) throw new Error('far enough')
    }
    await expect(collect(client.executions({ source: 'BATCH', onSearched }))).rejects.toThrow('far enough')
    expect(requests.map(({ path }) => path)).toEqual(['/v1/agent_executions?source=BATCH'])
  })
})
