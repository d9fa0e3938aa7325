// Example networks in the BIF format.

const boolean = (names, states) => names.map((name) => `variable ${name} {\n  type discrete [ 2 ] { ${states} };\n}\n`).join("");

export const NETWORKS = {
  earthquake: {
    title: "Burglar alarm",
    source: "Russell & Norvig, Artificial Intelligence: A Modern Approach, figure 14.2",
    query: "Burglary",
    bif: `network earthquake {
}
${boolean(["Burglary", "Earthquake", "Alarm", "JohnCalls", "MaryCalls"], "true, false")}probability ( Burglary ) {
  table 0.001, 0.999;
}
probability ( Earthquake ) {
  table 0.002, 0.998;
}
probability ( Alarm | Burglary, Earthquake ) {
  (true, true) 0.95, 0.05;
  (true, false) 0.94, 0.06;
  (false, true) 0.29, 0.71;
  (false, false) 0.001, 0.999;
}
probability ( JohnCalls | Alarm ) {
  (true) 0.9, 0.1;
  (false) 0.05, 0.95;
}
probability ( MaryCalls | Alarm ) {
  (true) 0.7, 0.3;
  (false) 0.01, 0.99;
}
`,
  },
  sprinkler: {
    title: "Sprinkler",
    source: "the textbook example of explaining away",
    query: "Rain",
    bif: `network sprinkler {
}
${boolean(["Cloudy", "Sprinkler", "Rain", "WetGrass"], "true, false")}probability ( Cloudy ) {
  table 0.5, 0.5;
}
probability ( Sprinkler | Cloudy ) {
  (true) 0.1, 0.9;
  (false) 0.5, 0.5;
}
probability ( Rain | Cloudy ) {
  (true) 0.8, 0.2;
  (false) 0.2, 0.8;
}
probability ( WetGrass | Sprinkler, Rain ) {
  (true, true) 0.99, 0.01;
  (true, false) 0.9, 0.1;
  (false, true) 0.9, 0.1;
  (false, false) 0.0, 1.0;
}
`,
  },
  asia: {
    title: "Chest clinic",
    source: "Lauritzen & Spiegelhalter 1988",
    query: "lung",
    bif: `network asia {
}
${boolean(["asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp"], "yes, no")}probability ( asia ) {
  table 0.01, 0.99;
}
probability ( tub | asia ) {
  (yes) 0.05, 0.95;
  (no) 0.01, 0.99;
}
probability ( smoke ) {
  table 0.5, 0.5;
}
probability ( lung | smoke ) {
  (yes) 0.1, 0.9;
  (no) 0.01, 0.99;
}
probability ( bronc | smoke ) {
  (yes) 0.6, 0.4;
  (no) 0.3, 0.7;
}
probability ( either | lung, tub ) {
  (no, no) 0.0, 1.0;
  default 1.0, 0.0;
}
probability ( xray | either ) {
  (yes) 0.98, 0.02;
  (no) 0.05, 0.95;
}
probability ( dysp | bronc, either ) {
  (yes, yes) 0.9, 0.1;
  (yes, no) 0.8, 0.2;
  (no, yes) 0.7, 0.3;
  (no, no) 0.1, 0.9;
}
`,
  },
};
