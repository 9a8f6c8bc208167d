import { isDeepStrictEqual } from 'node:util'
import type { Template } from 'aws-cdk-lib/assertions'
import { beforeAll, describe, expect, it } from 'vitest'
import { FUNCTION_NAMES } from '../../../infra/functions/function-settings.ts'
import {
  findFunctionResource,
  findResources,
  type Resource,
  synthesize,
  toLogicalIdPrefix,
} from '../../infra/synthesize.ts'
import { buildRelease, previousCommit } from './build-release.ts'

const commit = await previousCommit()

type Statement = { Effect: string; Action: string | string[]; Resource: unknown; Condition?: object }

/** What a function of a template is allowed, as "function: action on resource if condition"; empty if there is none. */
function permissionsOf(template: Template, name: string): string[] {
  const hasFunction = Object.keys(findResources(template, 'AWS::Lambda::Function')).some((id) =>
    id.startsWith(`${toLogicalIdPrefix(name)}Function`),
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

/**
 * The properties whose change makes CloudFormation replace what holds the data, or what the URLs of clients consist of.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-table.html
 */
const KEPT: Record<string, string[]> = {
  'AWS::DynamoDB::Table': ['ImportSourceSpecification', 'KeySchema', 'LocalSecondaryIndexes', 'TableName'],
  'AWS::ApiGateway::RestApi': [],
  'AWS::ApiGateway::Stage': ['RestApiId', 'StageName'],
}

/** Each index of the table with what cannot be edited; the order of projected attributes does not matter. */
function indexesOf(template: Template): Map<string, unknown> {
  const [table] = Object.values(findResources(template, 'AWS::DynamoDB::Table'))
  return new Map(
    table?.Properties.GlobalSecondaryIndexes.map(
      ({ IndexName, KeySchema, Projection }: Resource['Properties']) => [
        IndexName,
        { KeySchema, ...Projection, NonKeyAttributes: Projection.NonKeyAttributes?.toSorted() },
      ],
    ),
  )
}

describe.runIf(commit)('an update of the stack from the previous commit', () => {
  let before: Template
  const now = synthesize({ httpPublishing: true })
  beforeAll(async () => {
    before = (await buildRelease(commit ?? '')).template
  }, 600_000)

  // Versions of a function share its role: a permission goes one release after the last code that needs it.
  it('keeps every permission of every function', () => {
    const [previous = [], present = []] = [before, now].map((of) =>
      FUNCTION_NAMES.flatMap((name) => permissionsOf(of, name)),
    )
    expect(previous).toContainEqual(expect.stringMatching(/^run-agent: dynamodb:PutItem on /))
    expect(previous.filter((permission) => !present.includes(permission))).toEqual([])
  })

  it.each(Object.entries(KEPT))('does not replace the %s', (type, properties) => {
    const kept = (of: Template) =>
      Object.entries(findResources(of, type)).map(([id, { Properties }]) => [
        id,
        properties.map((name) => Properties[name]),
      ])
    expect(kept(before)).toHaveLength(1)
    expect(kept(now)).toEqual(kept(before))
  })

  // "Cannot perform more than one GSI creation or deletion in a single update"
  it('creates or deletes at most one index of the table, and edits none', () => {
    const [previous, present] = [indexesOf(before), indexesOf(now)]
    const [created, deleted] = [[...present.keys()], [...previous.keys()]].map((names) =>
      names.filter((name) => !previous.has(name) || !present.has(name)),
    )
    expect([...(created ?? []), ...(deleted ?? [])].length).toBeLessThanOrEqual(1)
    const edited = [...previous.keys()].filter(
      (name) => present.has(name) && !isDeepStrictEqual(previous.get(name), present.get(name)),
    )
    expect(edited).toEqual([])
  })
})
