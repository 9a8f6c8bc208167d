export default function run({ text }: { text: string }) {
  return { text }
}
