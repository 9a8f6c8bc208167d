import { AwsSolutionsChecks } from 'cdk-nag'
import { describe, expect, it } from 'vitest'
import { listSuppressions, suppressFindings } from '../../infra/nag-suppressions.ts'
import type { ServiceStack } from '../../infra/stack.ts'
import { ALL_OPTIONS, OPTION_SETS } from './all-options.ts'
import { withStack } from './synthesize.ts'

/** All findings of cdk-nag, warnings included, as "rule at path". */
function findViolations(stack: ServiceStack): string[] {
  const { violations } = new AwsSolutionsChecks().validateScope(stack)
  return violations.flatMap(({ ruleName, violatingResources }) =>
    violatingResources.map(({ constructPath }) => `${ruleName} at ${constructPath}`),
  )
}

const suppressions = listSuppressions({ name: 'AgentExecutionService' })

describe('cdk-nag', () => {
  it.each(Object.entries(OPTION_SETS))('reports no unsuppressed finding with %s', (_, context) => {
    const findings = withStack(context, (stack) => {
      suppressFindings(stack.service)
      return findViolations(stack)
    })
    expect(findings).toEqual([])
  })

  it('reports, without suppressions, exactly the findings that they suppress', () => {
    const { deployment, vpcId, subnetIds, runnerInstanceVcpus } = ALL_OPTIONS
    withStack({ deployment, vpcId, subnetIds, runnerInstanceVcpus }, (stack) => {
      const findings = findViolations(stack)
      const covered = suppressions.flatMap(({ id, constructs }) => {
        const paths = constructs(stack.service).map(({ node }) => `${id} at ${node.path}/`)
        expect(paths.length, id).toBeGreaterThan(0)
        const found = paths.map((path) => findings.filter((finding) => `${finding}/`.startsWith(path)))
        expect(
          found.filter(({ length }) => length === 0),
          `${id} suppresses nothing on some constructs`,
        ).toEqual([])
        return found.flat()
      })
      expect(covered.sort()).toEqual(findings.sort())
    })
  })

  it.each(suppressions)('has a reason to suppress $id', ({ reason }) => {
    expect(reason).toMatch(/^[A-Z].{40,}\.$/)
  })
})
