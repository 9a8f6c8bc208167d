import type { Template } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { FUNCTION_NAMES } from '../../../infra/functions/function-settings.ts'
import { findFunctionResource, findResources, synthesize } from '../../infra/synthesize.ts'
import { readBaseline } from '../baseline-files.ts'
import { buildRelease, hasCommit } from './build-release.ts'

const { commit } = readBaseline().manifest

type Statement = { Effect: string; Action: string | string[]; Resource: unknown; Condition?: object }

/** What a function of a template is allowed, as "function: action on resource if condition"; empty if there is none. */
function permissionsOf(template: Template, name: string): string[] {
  const hasFunction = Object.keys(findResources(template, 'AWS::Lambda::Function')).some((id) =>
    id.startsWith(`${toPascalCase(name)}Function`),
  )
  if (!hasFunction) return []
  const { Statement } = findFunctionResource(template, 'AWS::IAM::Policy', name).Properties.PolicyDocument
  const allowed = (Statement as Statement[]).filter(({ Effect }) => Effect === 'Allow')
  return allowed.flatMap(({ Action, Resource, Condition = {} }) =>
    [Action]
      .flat()
      .flatMap((action) =>
        [Resource]
          .flat()
          .map((each) => `${name}: ${action} on ${JSON.stringify(each)} if ${JSON.stringify(Condition)}`),
      ),
  )
}

const toPascalCase = (name: string) =>
  name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Versions of a function share its role: a permission goes one release after the last code that needs it. */
describe.runIf(await hasCommit(commit))('the stack', () => {
  it('allows the functions of the baseline everything that they were allowed', async () => {
    const { template } = await buildRelease(commit)
    const [before, now] = [template, synthesize({ httpPublishing: true })].map((of) =>
      FUNCTION_NAMES.flatMap((name) => permissionsOf(of, name)),
    )
    expect(before).toContainEqual(expect.stringMatching(/^run-agent: dynamodb:PutItem on /))
    expect(before?.filter((permission) => !now?.includes(permission))).toEqual([])
  }, 600_000)
})
