import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { declarationStore } from '../../lib/dynamodb/declaration-store.ts'
import { system } from '../../lib/system.ts'
import { EMULATORS, tableOn } from '../support/tables/emulators.ts'

const NOW = 1_800_000_000_000
const inputSchema = { type: 'object', properties: { id: { type: 'string' } } }
const declarations = { crm: [{ name: 'crm_find', description: 'Finds.', inputSchema }] }

describe.each(EMULATORS)('declarationStore on %s', (emulator) => {
  const store = declarationStore(tableOn(emulator))
  const newKey = () => ({ organizationId: system.newId(), hash: 'a1' })

  it('returns what was stored for a hash, and only in its organization', async () => {
    const key = newKey()
    await store.put({ ...key, declarations, now: NOW })
    await store.put({ ...key, declarations, now: NOW })
    expect(await store.get(key)).toEqual(declarations)
    expect(await store.get({ ...key, hash: 'a2' })).toBeNull()
    expect(await store.get({ ...key, organizationId: system.newId() })).toBeNull()
  })

  it('stores large declarations, and none that fit no item', async () => {
    const largeOf = (description: string) => ({
      crm: Array.from({ length: 400 }, () => ({ name: 'crm_find', description, inputSchema })),
    })
    const [large, tooLarge] = [newKey(), newKey()]
    await store.put({ ...large, declarations: largeOf('Finds a customer. '.repeat(100)), now: NOW })
    expect(await store.get(large)).toEqual(largeOf('Finds a customer. '.repeat(100)))
    const random = { crm: [{ name: 'x', description: randomBytes(600_000).toString('base64'), inputSchema }] }
    await store.put({ ...tooLarge, declarations: random, now: NOW })
    expect(await store.get(tooLarge)).toBeNull()
  })
})
