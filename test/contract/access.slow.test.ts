import { describe, expect, inject, it } from 'vitest'
import { getOperation, routes } from '../../lib/contract/routes.ts'
import { createClient } from '../support/service/client.ts'
import { openColumns } from '../support/service/token-columns.ts'
import { describeAccess } from './access.ts'
import { expectProblem } from './world.ts'

describeAccess(openColumns)

describe('a request without a token', () => {
  const anonymous = createClient(inject('service'), null)
  const isProtected = ({ operation }: (typeof routes)[number]) => !getOperation(operation).public

  it.each(routes.filter(isProtected))('is 401: $method $path', async ({ method, path, operation }) => {
    for (const url of [path, `${path}/`]) {
      const response = await anonymous(method, url.replaceAll(/[{}]/g, ''))
      expectProblem(response, 'Unauthorized', operation)
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
    }
  })
})
