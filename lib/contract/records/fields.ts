import * as z from 'zod'

/** Its calls are marked as pure, so that bundles contain only the schemas of their function. */
export const schema = <Schema>(define: () => Schema): Schema => define()

export const jsonObject = /* @__PURE__ */ schema(() => z.record(z.string(), z.unknown()))
export const nullableInt = /* @__PURE__ */ schema(() => z.int().nullable())
export const nullableNumber = /* @__PURE__ */ schema(() => z.number().nullable())
export const nullableText = /* @__PURE__ */ schema(() => z.string().nullable())
export const nullableTime = /* @__PURE__ */ schema(() => z.iso.datetime().nullable())
export const optionalId = /* @__PURE__ */ schema(() => z.uuid().optional())
export const optionalInt = /* @__PURE__ */ schema(() => z.int().optional())
export const optionalText = /* @__PURE__ */ schema(() => z.string().optional())
