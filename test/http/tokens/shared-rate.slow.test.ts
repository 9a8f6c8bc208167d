import { expect, inject, it } from 'vitest'
import { createToken } from '../../support/engine/access.ts'
import { newOrganization, sharedTable } from '../../support/engine/organization.ts'
import { createClient } from '../../support/service/client.ts'
import { temporaryServices } from '../../support/service/temporary-services.ts'
import { inOneSecond } from './in-one-second.ts'

const services = temporaryServices()

it('a token with a rate has it in all processes together', async () => {
  const org = await newOrganization()
  const environment = { DYNAMODB_ENDPOINT: inject('dynamodb') }
  const other = await services.start(services.newFolder(), environment)
  const token = await createToken(sharedTable(), org.id, { rate: 5 })
  const clients = [inject('service'), other.url].map((url) => createClient(url, token))
  const accepted = await inOneSecond(async () => {
    const calls = clients.flatMap((call) => Array.from({ length: 8 }, () => call('GET', '/v1/me')))
    return (await Promise.all(calls)).filter(({ status }) => status === 200).length
  })
  expect(accepted).toBe(5)
})
