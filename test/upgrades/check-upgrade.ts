import { isDeepStrictEqual } from 'node:util'

/** The parts of a CloudFormation template that decide how a stack is updated. */
export type Template = { Resources: Record<string, Resource> }

type Resource = { Type: string; Properties?: Properties }
type Properties = Record<string, ReturnType<typeof JSON.parse>>

const TABLE = 'AWS::DynamoDB::Table'

/**
 * Resources that every update must keep: the data, and what the URLs of clients consist of. With the properties whose
 * change makes CloudFormation replace the resource; for an API, none.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-table.html
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-apigateway-restapi.html
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-apigateway-stage.html
 */
const KEPT: Record<string, string[]> = {
  [TABLE]: ['ImportSourceSpecification', 'KeySchema', 'LocalSecondaryIndexes', 'TableName'],
  'AWS::ApiGateway::RestApi': [],
  'AWS::ApiGateway::Stage': ['RestApiId', 'StageName'],
}

/** Properties of the table that are compared in parts. */
const EDITABLE: Record<string, string[]> = { [TABLE]: ['AttributeDefinitions', 'GlobalSecondaryIndexes'] }

/** What is compared of a template: the resources that every update must keep, with the properties that matter. */
export function pickKept({ Resources }: Template): Template {
  const kept = Object.entries(Resources).flatMap(([id, { Type, Properties = {} }]) => {
    const names = KEPT[Type] && [...KEPT[Type], ...(EDITABLE[Type] ?? [])]
    const compared = Object.entries(Properties).filter(([name]) => names?.includes(name))
    return names ? [[id, { Type, Properties: Object.fromEntries(compared) }]] : []
  })
  return { Resources: Object.fromEntries(kept) }
}

/** Why a stack with the first template must not be updated to the second one; empty if it can be. */
export function findUpgradeProblems(before: Template, after: Template): string[] {
  const kept = Object.entries(before.Resources).filter(([, { Type }]) => KEPT[Type])
  return kept.flatMap(([id, resource]) => {
    const name = `${id} (${resource.Type})`
    const updated = after.Resources[id]
    if (!updated) return [`${name} is removed, or its logical id has changed.`]
    if (updated.Type !== resource.Type) return [`${name} is replaced: it becomes ${updated.Type}.`]
    const properties = [resource.Properties ?? {}, updated.Properties ?? {}] as const
    return findReplacing(resource.Type, ...properties)
      .map((property) => `${name} is replaced: ${property} changes.`)
      .concat(findIndexProblems(...properties).map((problem) => `${name} ${problem}`))
  })
}

/** The changed properties that cause a replacement. */
function findReplacing(type: string, before: Properties, after: Properties): string[] {
  const changed = (KEPT[type] ?? []).filter((name) => !isDeepStrictEqual(before[name], after[name]))
  const types = attributeTypes(after)
  const edited = [...attributeTypes(before)].filter(
    ([name, attributeType]) => types.has(name) && types.get(name) !== attributeType,
  )
  return [...changed, ...edited.map(([name]) => `the type of the attribute ${name}`)]
}

/**
 * One update can create or delete one global secondary index, and cannot edit the keys or the projection of one.
 * CloudFormation: "Cannot perform more than one GSI creation or deletion in a single update".
 */
function findIndexProblems(before: Properties, after: Properties): string[] {
  const [old, current] = [indexes(before), indexes(after)]
  const created = [...current.keys()].filter((name) => !old.has(name))
  const deleted = [...old.keys()].filter((name) => !current.has(name))
  const edited = [...old.keys()].filter(
    (name) => current.has(name) && !isDeepStrictEqual(old.get(name), current.get(name)),
  )
  const changes = [...created, ...deleted]
  return [
    ...edited.map((name) => `edits the index ${name}: create one with another name instead.`),
    ...(changes.length > 1 ? [`creates or deletes more than one index: ${changes.join(', ')}.`] : []),
  ]
}

/** Keys and projection of each index. The order of projected attributes does not matter. */
function indexes({ GlobalSecondaryIndexes = [] }: Properties): Map<string, unknown> {
  return new Map(
    GlobalSecondaryIndexes.map(({ IndexName, KeySchema, Projection }: Properties) => [
      IndexName,
      { KeySchema, ...Projection, NonKeyAttributes: [...(Projection?.NonKeyAttributes ?? [])].sort() },
    ]),
  )
}

function attributeTypes({ AttributeDefinitions = [] }: Properties): Map<string, string> {
  return new Map(
    AttributeDefinitions.map(({ AttributeName, AttributeType }: Properties) => [
      AttributeName,
      AttributeType,
    ]),
  )
}
