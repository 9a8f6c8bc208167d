import type { JsonObject } from '../../../core/json.ts'
import { parseName } from '../../similar-names.ts'
import { findField } from '../names/find-field.ts'
import { canBeRenamed } from '../names/match-names.ts'
import type { FieldShape, Shape } from '../shape.ts'
import { isEnvelope, isKnownWrapper, type Opened, openValue } from './open-value.ts'

/** Levels of objects around the one that is looked for. */
const MAX_LEVELS = 3

/** An object with more fields is data, not an envelope. */
const MAX_NAMES = 1_000

/**
 * The only object inside an input that has all required fields, if no object around it has any declared field: the
 * resource in a webhook.
 */
export function findSupplier(shape: Shape, sent: JsonObject): Opened | undefined {
  const hasRequired = [...shape.fields.values()].some(({ isRequired }) => isRequired)
  if (!shape.isClosed || !hasRequired) return undefined
  const suppliers = listSuppliers(shape, { path: [], fields: sent }, true, MAX_LEVELS)
  const [supplier] = suppliers
  return suppliers.length === 1 && supplier?.isCertain ? supplier : undefined
}

type Supplier = Opened & { isCertain: boolean }

/** `isKnown`: whether all names on the way are those of envelopes. Two suppliers are enough to know that there are several. */
function listSuppliers(shape: Shape, { path, fields }: Opened, isKnown: boolean, levels: number): Supplier[] {
  const names = Object.keys(fields)
  const suppliers: Supplier[] = []
  if (levels === 0 || names.length > MAX_NAMES) return suppliers
  for (const name of names) {
    const value = fields[name] ?? null
    const opened = typeof value !== 'string' || isEnvelope(name) ? openValue(value) : undefined
    if (!opened) continue
    const inner = { path: [...path, name, ...opened.path], fields: opened.fields }
    const isInnerKnown = isKnown && isKnownWrapper(name)
    const supplied = suppliedFields(shape, inner.fields)
    if (isComplete(shape, supplied))
      suppliers.push({ ...inner, isCertain: isInnerKnown || isSpecific(supplied) })
    else if (supplied.length === 0) suppliers.push(...listSuppliers(shape, inner, isInnerKnown, levels - 1))
    if (suppliers.length > 1) break
  }
  return suppliers
}

/** The declared fields among those of an object. */
function suppliedFields(shape: Shape, fields: JsonObject): FieldShape[] {
  const names = Object.keys(fields)
  if (names.length > MAX_NAMES) return []
  const supplied = new Set<FieldShape>()
  for (const name of names) {
    const field = findField(shape, name)
    if (field && canBeRenamed(field, fields[name] ?? null)) supplied.add(field)
  }
  return [...supplied]
}

const isComplete = (shape: Shape, supplied: readonly FieldShape[]) =>
  [...shape.fields.values()].every((field) => !field.isRequired || supplied.includes(field))

/** A single field such as `name` occurs in many objects; several fields, or one such as `orderNumber`, do not. */
const isSpecific = (supplied: readonly FieldShape[]) =>
  supplied.length > 1 || supplied.some(({ name }) => parseName(name).words.length > 1)
