import { AwsSolutionsChecks } from 'cdk-nag'
import { describe, expect, it } from 'vitest'
import { SUPPRESSIONS, suppressFindings } from '../../infra/nag-suppressions.ts'
import type { ServiceStack } from '../../infra/stack.ts'
import { withStack } from './synthesize.ts'

const EVERYTHING = {
  kms: true,
  webAcl: true,
  alarmEmail: 'ops@example.com',
  domainName: 'agents.example.com',
  certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/0e1f-2a',
  openaiKeyParameter: '/team/openai',
  anthropicKeyParameter: '/team/anthropic',
}

/** "rule at path" of all that cdk-nag finds, warnings included. */
function findingsIn(stack: ServiceStack): string[] {
  const { violations } = new AwsSolutionsChecks().validateScope(stack)
  return violations.flatMap(({ ruleName, violatingResources }) =>
    violatingResources.map(({ constructPath }) => `${ruleName} at ${constructPath}`),
  )
}

describe('cdk-nag', () => {
  it.each([
    ['as cdk.json has them', {}],
    ['all in use', EVERYTHING],
  ])('finds nothing that is not suppressed, with the settings %s', (_, context) => {
    const findings = withStack(context, (stack) => {
      suppressFindings(stack)
      return findingsIn(stack)
    })
    expect(findings).toEqual([])
  })

  it('finds, without the suppressions, each of them where it is said to be, and nothing else there', () => {
    withStack({}, (stack) => {
      const findings = findingsIn(stack)
      const covered = SUPPRESSIONS.flatMap(({ id, of }) => {
        const places = of(stack).map(({ node }) => `${id} at ${node.path}/`)
        expect(places.length, id).toBeGreaterThan(0)
        const found = places.map((place) => findings.filter((finding) => `${finding}/`.startsWith(place)))
        expect(
          found.filter(({ length }) => length === 0),
          `${id} is not needed everywhere`,
        ).toEqual([])
        return found.flat()
      })
      expect(covered.sort()).toEqual(findings.sort())
    })
  })

  it.each(SUPPRESSIONS)('is given a reason for $id', ({ reason }) => {
    expect(reason).toMatch(/^[A-Z].{40,}\.$/)
  })
})
