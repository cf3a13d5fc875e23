/** What a command sees of the world around it. */
export interface Shell {
  /** epoch ms */
  now(): number;
  /** is standard output a terminal that wants colours? */
  hasColour: boolean;
  /** to standard output; lines end with a line feed */
  print(text: string): void;
  /** to standard error */
  printError(text: string): void;
}
