import { describe, expect, it } from 'vitest'
import { rateStore } from '../../lib/dynamodb/access-stores.ts'
import { largeBodiesKey, rateKey } from '../../lib/dynamodb/table/keys.ts'
import { system } from '../../lib/system.ts'
import { EMULATORS, race, tableOn } from '../support/tables/emulators.ts'

const SECOND = Date.UTC(2027, 0, 1) / 1000

describe.each(EMULATORS)('rateStore on %s', (emulator) => {
  const table = tableOn(emulator)
  const rates = rateStore(table)

  it('counts each of many concurrent requests once', async () => {
    const tokenId = system.newId()
    const counts = await race(() => rates.count({ tokenId, second: SECOND }))
    expect(counts.sort((a, b) => a - b)).toEqual(counts.map((_, i) => i + 1))
  })

  it('counts per token and second', async () => {
    const [tokenId, other] = [system.newId(), system.newId()]
    await rates.count({ tokenId, second: SECOND })
    expect(await rates.count({ tokenId, second: SECOND + 1 })).toBe(1)
    expect(await rates.count({ tokenId: other, second: SECOND })).toBe(1)
    expect(await rates.count({ tokenId, second: SECOND })).toBe(2)
  })

  it('adds the bytes of concurrent requests, per organization and minute', async () => {
    const [organizationId, other] = [system.newId(), system.newId()]
    const minute = SECOND / 60
    const sums = await race(() => rates.addBytes({ organizationId, minute, bytes: 1_000_000 }))
    expect(sums.sort((a, b) => a - b)).toEqual(sums.map((_, i) => (i + 1) * 1_000_000))
    expect(await rates.addBytes({ organizationId, minute: minute + 1, bytes: 5 })).toBe(5)
    expect(await rates.addBytes({ organizationId: other, minute, bytes: 7 })).toBe(7)
    const item = await table.get(largeBodiesKey(organizationId, minute), { consistent: true })
    expect(item?.ttl).toBe(SECOND + 120)
  })

  it('lets DynamoDB delete a counter a minute later', async () => {
    const tokenId = system.newId()
    await rates.count({ tokenId, second: SECOND })
    const item = await table.get(rateKey(tokenId, SECOND), { consistent: true })
    expect(item?.ttl).toBe(SECOND + 60)
  })
})
